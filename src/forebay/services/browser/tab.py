"""A page in a separate browser context: no cookies, an egress grant, no popups, dialogs or downloads."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from forebay.errors import DataError, StepError, TransientError
from forebay.services.browser.devtools import BrowserGone, ProtocolError

if TYPE_CHECKING:
    from collections.abc import Callable

    from forebay.services.browser.process import BrowserProcess
    from forebay.services.egress import Grant

_MOST_REQUESTS = 1500
_MOST_BYTES = 96 << 20  # decompressed: what a page holds in memory
_MOST_HTML = 16 << 20
MOST_BYTES_DOWN = 2 * _MOST_BYTES  # over the network, including fetches of scripts, for which there are no load events
_MOST_NOTES = 20
_OPENS_WITHIN = 15.0
_CLOSES_WITHIN = 5.0
_QUIET_FOR = 0.25  # seconds without a request after which the page counts as loaded


@dataclass(slots=True)
class Document:
    """The response that contains the page."""

    url: str
    status: int
    media_type: str
    headers: dict[str, str]


@dataclass(slots=True)
class _State:
    """The state of the page, from events."""

    loader: str = ""
    is_loaded: bool = False
    target: str = ""
    """The URL of the navigation, after redirects."""
    loading: set[str] = field(default_factory=set[str])
    documents: dict[str, Document] = field(default_factory=dict[str, Document])
    download: str | None = None
    failure: StepError | None = None


class Tab:
    """Drives one page; made by `opened`."""

    def __init__(self, browser: BrowserProcess, grant: Grant, viewport: tuple[int, int]) -> None:
        self.notes: list[str] = []
        self.requests = 0
        self.load_failure = ""
        self._browser, self._devtools, self._grant = browser, browser.devtools, grant
        self._viewport = viewport
        self._context = ""
        self._session = ""
        self._frame = ""
        self._world: tuple[str, int] = ("", 0)
        self._state = _State()
        self._bytes = self._html = 0
        self._asked_for_credentials: set[str] = set()
        self._attached = asyncio.Event()
        self._changed = asyncio.Event()

    # Opening and closing.

    async def open(self) -> None:
        """Create the context and an empty page.

        Raises: TransientError when the browser takes too long; it is then replaced.
        """
        try:
            async with asyncio.timeout(_OPENS_WITHIN):
                await self._open()
        except TimeoutError:
            await self._browser.kill()
            raise TransientError("the browser did not open a page in time") from None

    def _end(self, _ended: object) -> None:
        self._fail(BrowserGone("the browser has ended"))

    def _fail(self, failure: StepError | BrowserGone) -> None:
        self._state.failure = failure
        self._changed.set()

    async def _open(self) -> None:
        self._devtools.ended.add_done_callback(self._end)
        self._grant.on_cut = self._fail
        made = await self._devtools.call(
            "Target.createBrowserContext",
            disposeOnDetach=True,
            proxyServer=f"http://{self._grant.host}:{self._grant.port}",
            proxyBypassList="<-loopback>",
        )
        self._context = made["browserContextId"]
        self._browser.listeners[self._context] = self._hear_browser
        browser = self._devtools.call
        await browser(
            "Browser.setDownloadBehavior", behavior="deny", browserContextId=self._context, eventsEnabled=True
        )
        await browser("Browser.grantPermissions", permissions=[], browserContextId=self._context)
        await browser("Target.createTarget", url="about:blank", browserContextId=self._context)
        await self._attached.wait()
        await self._prepare()

    async def _prepare(self) -> None:
        width, height = self._viewport
        await asyncio.gather(
            self._call("Page.enable"),
            self._call("Page.setLifecycleEventsEnabled", enabled=True),
            self._call("Network.enable", maxTotalBufferSize=0, maxResourceBufferSize=0),
            self._call("Inspector.enable"),
            self._call("Log.enable"),
            self._call("Fetch.enable", handleAuthRequests=True, patterns=[{"urlPattern": "*"}]),
            self._call(
                "Emulation.setUserAgentOverride", userAgent=self._browser.user_agent, acceptLanguage="en,*;q=0.5"
            ),
            self._call("Emulation.setGeolocationOverride"),
            self._call(
                "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
            ),
            self._call("Runtime.runIfWaitingForDebugger"),
        )
        self._frame = (await self._call("Page.getFrameTree"))["frameTree"]["frame"]["id"]

    async def close(self) -> None:
        """Close the context; a browser that does not respond is killed."""
        self._devtools.ended.remove_done_callback(self._end)
        self._grant.on_cut = None
        self._browser.listeners.pop(self._context, None)
        self._devtools.forget(self._session)
        if not self._context:
            return
        try:
            async with asyncio.timeout(_CLOSES_WITHIN):
                await self._devtools.call("Target.disposeBrowserContext", browserContextId=self._context)
        except (BrowserGone, ProtocolError):
            pass
        except TimeoutError:
            await self._browser.kill()

    # Commands.

    async def navigate(self, url: str) -> tuple[str, bool]:
        """Navigate; returns the reason if that failed, and whether it is a download."""
        answer = await self._call("Page.navigate", url=url, transitionType="typed")
        self._world = ("", 0)
        return answer.get("errorText", ""), bool(answer.get("isDownload")) or self._state.download is not None

    async def settled(self, *, quiet_s: float) -> None:
        """Wait until the page has loaded, and then until its requests have ended, at most `quiet_s`."""
        while True:
            await self._until(lambda: self._state.is_loaded)
            loader = self._state.loader
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(quiet_s):
                    await self._quiet()
            if self._state.is_loaded and self._state.loader == loader:
                return

    async def _quiet(self) -> None:
        while True:
            await self._until(lambda: not self._state.loading)
            seen = self.requests
            await asyncio.sleep(_QUIET_FOR)
            if not self._state.loading and self.requests == seen:
                return

    async def evaluate(self, script: str, *args: Any) -> Any:
        """Run a function in an isolated world, which scripts of the page cannot affect, and return its result."""
        loader, world = self._world
        if not world or loader != self._state.loader:
            loader = self._state.loader
            made = await self._call("Page.createIsolatedWorld", frameId=self._frame, worldName="forebay")
            world = made["executionContextId"]
            self._world = (loader, world)
        answer = await self._call(
            "Runtime.callFunctionOn",
            functionDeclaration=script,
            executionContextId=world,
            arguments=[{"value": value} for value in args],
            returnByValue=True,
            awaitPromise=True,
        )
        if "exceptionDetails" in answer:
            raise ProtocolError(str(answer["exceptionDetails"].get("text")))
        return answer["result"].get("value")

    async def shot(self, quality: int, clip: tuple[int, int] | None = None) -> str:
        """A screenshot in Base64: of the viewport, or from the top left corner."""
        given: dict[str, Any] = {"format": "webp", "quality": quality}
        if clip:
            given |= {
                "clip": {"x": 0, "y": 0, "width": clip[0], "height": clip[1], "scale": 1},
                "captureBeyondViewport": True,
            }
        return str((await self._call("Page.captureScreenshot", **given))["data"])

    def stop(self) -> None:
        self._devtools.tell("Page.stopLoading", self._session)

    @property
    def target(self) -> str:
        """The URL of the current navigation."""
        return self._state.target

    @property
    def document(self) -> Document | None:
        """The response of the page that is shown."""
        return self._state.documents.get(self._state.loader)

    @property
    def last_document(self) -> Document | None:
        """The last response to a navigation, also if it was not shown."""
        return next(reversed(self._state.documents.values()), None)

    def note(self, text: str) -> None:
        if len(self.notes) < _MOST_NOTES and text not in self.notes:
            self.notes.append(text[:300])

    async def _call(self, method: str, /, **params: Any) -> dict[str, Any]:
        return await self._racing(asyncio.ensure_future(self._devtools.call(method, self._session, **params)))

    async def _racing(self, call: asyncio.Future[dict[str, Any]]) -> dict[str, Any]:
        """Wait for a result, or for the end of the page: a crashed page sends no results."""
        crash = asyncio.ensure_future(self._until(call.done))
        both: set[asyncio.Future[Any]] = {call, crash}
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            if not call.done():
                crash.result()
            return call.result()
        finally:
            call.cancel()
            crash.cancel()
            await asyncio.gather(call, crash, return_exceptions=True)

    async def _until(self, condition: Callable[[], bool]) -> None:
        """Wait for an event.

        Raises: the error that ended the page.
        """
        while not condition():
            if self._state.failure is not None:
                raise self._state.failure
            self._changed.clear()
            await self._changed.wait()

    # Events.

    def _hear_browser(self, method: str, params: dict[str, Any]) -> None:
        if method == "Target.attachedToTarget":
            self._attach(params["sessionId"], params["targetInfo"])
        elif method == "Browser.downloadWillBegin" and params.get("frameId") == self._frame:
            self._state.download = str(params.get("suggestedFilename") or "")
            self._changed.set()

    def _attach(self, session: str, target: dict[str, Any]) -> None:
        if target["type"] == "page" and not self._session:
            self._session = session
            self._devtools.listen(session, self._hear)
            self._attached.set()
        elif target["type"] == "page":
            self.note("it opened a window, which was closed")
            self._devtools.tell("Runtime.runIfWaitingForDebugger", session)  # otherwise the opener would wait, too
            self._devtools.tell("Target.closeTarget", targetId=target["targetId"])
        else:  # workers, whose traffic uses the same grant
            self._devtools.tell("Runtime.runIfWaitingForDebugger", session)

    def _hear(self, method: str, params: dict[str, Any]) -> None:
        handler = getattr(self, "_on_" + method.replace(".", "_"), None)
        if handler is not None:
            handler(params)
            self._changed.set()

    def _on_Fetch_requestPaused(self, params: dict[str, Any]) -> None:  # noqa: N802 - named as the protocol does
        self.requests += 1
        request = params["requestId"]
        if self.requests > _MOST_REQUESTS or params.get("resourceType") == "Media":
            if self.requests == _MOST_REQUESTS + 1:
                self.note(f"it made more than {_MOST_REQUESTS} requests")
            self._devtools.tell("Fetch.failRequest", self._session, requestId=request, errorReason="BlockedByClient")
        else:
            self._devtools.tell("Fetch.continueRequest", self._session, requestId=request)

    def _on_Fetch_authRequired(self, params: dict[str, Any]) -> None:  # noqa: N802
        request, challenge = params["requestId"], params["authChallenge"]
        answer: dict[str, Any] = {"response": "CancelAuth"}  # sites get no credentials
        if challenge.get("source") == "Proxy" and request not in self._asked_for_credentials:
            self._asked_for_credentials.add(request)
            answer = {
                "response": "ProvideCredentials",
                "username": self._grant.username,
                "password": self._grant.password,
            }
        self._devtools.tell("Fetch.continueWithAuth", self._session, requestId=request, authChallengeResponse=answer)

    def _on_Network_requestWillBeSent(self, params: dict[str, Any]) -> None:  # noqa: N802
        self._state.loading.add(params["requestId"])
        if params.get("type") == "Document" and params.get("frameId") == self._frame:
            self._state.target = params["request"]["url"]

    def _on_Network_loadingFinished(self, params: dict[str, Any]) -> None:  # noqa: N802
        self._state.loading.discard(params["requestId"])

    def _on_Network_loadingFailed(self, params: dict[str, Any]) -> None:  # noqa: N802
        self._state.loading.discard(params["requestId"])
        if params.get("type") == "Document":
            self.load_failure = str(params.get("errorText", ""))
        if params["requestId"] == self._state.loader:
            self._state.is_loaded = True  # no more will arrive
            self.note(f"it was not received completely: {params.get('errorText', '').removeprefix('net::')}")

    def _on_Network_responseReceived(self, params: dict[str, Any]) -> None:  # noqa: N802
        if params.get("type") == "Document" and params.get("frameId") == self._frame:
            response = params["response"]
            headers = {str(name).lower(): str(value) for name, value in response.get("headers", {}).items()}
            media_type = str(response.get("mimeType", "")).lower()
            found = Document(response["url"], int(response["status"]), media_type, headers)
            self._state.documents[params["loaderId"]] = found

    def _on_Network_dataReceived(self, params: dict[str, Any]) -> None:  # noqa: N802
        size = int(params.get("dataLength", 0))
        before, self._bytes = self._bytes, self._bytes + size
        if before <= _MOST_BYTES < self._bytes:
            self.note(f"it is larger than {_MOST_BYTES >> 20} MB and was cut")
            self.stop()
        if params["requestId"] in self._state.documents:
            self._html += size
            if self._html > _MOST_HTML:
                self._state.failure = DataError(f"the page has more than {_MOST_HTML >> 20} MB of HTML")

    def _on_Page_lifecycleEvent(self, params: dict[str, Any]) -> None:  # noqa: N802
        if params["frameId"] != self._frame:
            return
        if params["name"] == "init" and params["loaderId"] != self._state.loader:
            self._state.loader, self._state.is_loaded = params["loaderId"], False
        elif params["loaderId"] == self._state.loader and params["name"] == "load":
            self._state.is_loaded = True

    def _on_Page_javascriptDialogOpening(self, params: dict[str, Any]) -> None:  # noqa: N802
        self.note(f"it opened a dialog, which was dismissed: {params.get('message', '')[:100]}")
        is_leaving = params.get("type") == "beforeunload"
        self._devtools.tell("Page.handleJavaScriptDialog", self._session, accept=is_leaving)

    def _on_Inspector_targetCrashed(self, _params: dict[str, Any]) -> None:  # noqa: N802
        self._state.failure = TransientError("the page crashed its tab, perhaps by using too much memory")

    def _on_Inspector_detached(self, params: dict[str, Any]) -> None:  # noqa: N802
        self._state.failure = TransientError(f"the page's tab was closed: {params.get('reason')}")

    def _on_Log_entryAdded(self, params: dict[str, Any]) -> None:  # noqa: N802
        entry = params["entry"]
        if entry.get("level") == "error" and entry.get("source") != "network":
            self.note(f"console: {entry.get('text', '')}")
