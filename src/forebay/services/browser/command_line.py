"""The command line of Chromium: no traffic except that of pages, and all of it through the proxy."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import PurePath

_QUIET = (
    "--headless",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-gpu",
    "--disable-dev-shm-usage",  # /dev/shm is small in containers
    "--mute-audio",
    "--hide-scrollbars",
    "--disable-extensions",
    "--disable-default-apps",
    "--disable-component-update",
    "--disable-background-networking",
    "--disable-client-side-phishing-detection",
    "--disable-domain-reliability",
    "--disable-breakpad",
    "--disable-crash-reporter",
    "--disable-sync",
    "--metrics-recording-only",
    "--no-pings",
    "--no-service-autorun",
    "--password-store=basic",
    "--use-mock-keychain",
    "--disable-print-preview",
    "--disable-notifications",
    "--deny-permission-prompts",
    "--disable-back-forward-cache",
    "--disable-ipc-flooding-protection",
    "--disable-renderer-backgrounding",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--force-color-profile=srgb",
    "--font-render-hinting=none",
)
_GUARDED = (
    "--disable-quic",
    "--dns-prefetch-disable",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    # Only the proxy resolves names; Chromium must not, not even for prefetching.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    # Loopback also goes to the proxy, which refuses it.
    "--proxy-bypass-list=<-loopback>",
)
# Contexts isolate captures, and none has secrets: site isolation is not worth its memory.
_OFF = (
    "site-per-process",
    "IsolateOrigins",
    "Translate",
    "OptimizationHints",
    "MediaRouter",
    "DialMediaRouteProvider",
    "CertificateTransparencyComponentUpdater",
    "AutofillServerCommunication",
    "AsyncDns",
    "NetworkTimeServiceQuerying",
    "WebOTP",
    "PaintHolding",
)
_HEAP_MB = 512  # per page: a page that needs more crashes its tab, not the browser


def arguments(folder: PurePath, proxy: tuple[str, int], *, sandboxed: bool, extra: str) -> Iterator[str]:
    """All arguments; those of the setting come last and take precedence."""
    yield from _QUIET
    yield from _GUARDED
    yield f"--proxy-server=http://{proxy[0]}:{proxy[1]}"  # without credentials: only pages use the network
    yield f"--user-data-dir={folder}"
    yield f"--disable-features={','.join(_OFF)}"
    yield "--disable-site-isolation-trials"
    yield f"--js-flags=--max-old-space-size={_HEAP_MB}"
    if not sandboxed:
        yield "--no-sandbox"
    yield from extra.split()
    yield "about:blank"
