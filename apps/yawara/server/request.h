// SPDX-License-Identifier: MIT
// What a browser may ask the server for. All text comes from strangers: any page that is open in
// the browser can send requests to a port of this machine.
#ifndef YW_APP_SERVER_REQUEST_H
#define YW_APP_SERVER_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#define REQUEST_TOKEN_DIGITS 32

/// A secret of 128 random bits in hexadecimal digits. False if the system has no random numbers.
bool request_make_token(char out[REQUEST_TOKEN_DIGITS + 1]);
/// The part of "/TOKEN/part" after the token and its slash; NULL if the token is another. Takes the
/// same time for all wrong tokens.
const char* request_part(const char* path, const char* token);
/// True if the name stays in the folder that it is looked for in: letters, digits, and . _ -
/// between single slashes, no part of it beginning with a dot.
bool request_is_safe_file(const char* name);
/// The media type by the ending of a file of the page; NULL: none of its files ends so.
const char* request_media_type(const char* name);
/// True if the Host header names this server. On loopback that is a loopback name with the port, so
/// that no other name can be made to point here; elsewhere any name with the port.
bool request_is_own_host(const char* host, int port, bool loopback);
/// True if the Origin header is that of pages that this server sent: "http://" and the Host header.
bool request_is_own_origin(const char* origin, const char* host);

#endif
