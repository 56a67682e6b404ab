// SPDX-License-Identifier: MIT
// Threads need an isolated page. Hosts that send no COOP and COEP headers get them from a service
// worker, which takes one reload; where that fails the page runs with one thread.
if (!crossOriginIsolated && isSecureContext && 'serviceWorker' in navigator && !location.search.includes('threads=1')) {
  const script = document.createElement('script');
  script.src = 'coi-serviceworker.js';
  document.head.append(script);
}
