// SPDX-License-Identifier: MIT
// Decompressors of the libraries that this program was built with.
#ifndef YW_APP_CODECS_CODECS_H
#define YW_APP_CODECS_CODECS_H

/// Registers zlib, LZ4 and LZMA for the library's file readers, as far as they are built in.
void codecs_register(void);

#endif
