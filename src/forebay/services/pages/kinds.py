"""Determines the kind of a response: a page, or a login, captcha or error page. Used for fetched and rendered HTML."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from urllib.parse import urlsplit


class PageKind(StrEnum):
    PAGE = "page"
    LOGIN = "login"
    CAPTCHA = "captcha"
    ERROR = "error"
    EMPTY = "empty"
    SOFT_404 = "soft 404"


@dataclass(frozen=True, slots=True)
class Signals:
    """The facts that determine the kind."""

    status: int
    url: str
    title: str = ""
    heading: str = ""
    text: str = ""
    words: int = 0
    has_password: bool = False
    has_media: bool = False
    has_scripts: bool = False
    markers: str = ""
    """URLs of scripts, frames and forms, and ids of elements, in one text."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Judged:
    """A kind and its reason."""

    kind: PageKind
    reason: str = ""


_FEW_WORDS = 160  # words; a response with more text is a page, whatever else it has
_NOTHING = 3

_CHALLENGES = re.compile(
    r"/cdn-cgi/challenge-platform/h/|cf-chl-|challenge-form|cf-please-wait|captcha-delivery\.com|px-captcha"
    r"|_Incapsula_Resource|awswaf\.com|sec-if-cpt-container|distil_r_captcha|ddos-guard/|anubis_challenge",
    re.IGNORECASE,
)
_CAPTCHAS = re.compile(
    r"recaptcha/(?:api|enterprise)|hcaptcha\.com|challenges\.cloudflare\.com|friendly-?captcha|funcaptcha|arkoselabs"
    r"|geetest|captcha",
    re.IGNORECASE,
)
_CAPTCHA_WORDS = re.compile(
    r"are you (?:a )?(?:human|robot)|not a robot|verify(?:ing)? (?:that )?you are (?:a )?human|human verification"
    r"|checking your browser|just a moment|unusual traffic|security check|attention required|prove you are human"
    r"|complete the captcha|kein roboter|pas un robot|no eres un robot|não é um robô|non sei un robot|не робот"
    r"|ロボットではありません|不是机器人|安全验证|人机验证",
    re.IGNORECASE,
)
_LOGIN_WORDS = re.compile(
    r"\b(?:log ?-?in|sign ?-?in|log on|sign on|member login|anmelden|anmeldung|einloggen|connexion|se connecter"
    r"|identifiez-vous|iniciar sesi[oó]n|inicia sesi[oó]n|acceder|entrar|fazer login|accedi|inloggen|logga in|log ind"
    r"|zaloguj|přihlásit|войти|вход|авторизация|giriş yap)\b|ログイン|サインイン|登录|登錄|登入|로그인|تسجيل الدخول",
    re.IGNORECASE,
)
_LOGIN_PATH = re.compile(
    r"(?:^|[/_.-])(?:log-?in|sign-?in|logon|signon|sso|auth|authenticate|authwall|session/new|users/sign_in|wp-login\.php"
    r"|checkpoint|account/begin)(?:$|[/_.?-])",
    re.IGNORECASE,
)
_LOGIN_HOST = re.compile(r"^(?:login|signin|accounts?|auth|sso|id|idp)\.", re.IGNORECASE)
# The number counts only at the beginning of a title or next to a word for an error: "Peugeot 404" is a car.
_GONE = re.compile(
    r"^\W*404\W*$|^\W*404\s*[-\u2013\u2014:|.!]|\b(?:http|error|status|fehler|erreur|errore?|code)\W{0,3}404\b"
    r"|\b404\W{0,3}(?:error|not|page|fehler|seite|erreur|errore?|file|http|oops|sorry|nicht|p[aá]gina|страница|ページ|页面)\b"
    r"|[-\u2013\u2014:|]\s*404\W*$|(?:page|article|story|post|content|product|file|video|document|site|url)(?:\s+\w+){0,4}?"
    r"\s+(?:not found|(?:could not|couldn.t|cannot|can.t) be found|does ?n.t exist|does not exist"
    r"|no longer (?:exists|available)|has (?:been )?(?:moved|removed|deleted)|is gone|unavailable)"
    r"|^not found\b|nothing (?:was )?found here|page missing|seite (?:wurde )?nicht gefunden|nicht mehr verfügbar"
    r"|page (?:introuvable|non trouv[ée]e|inexistante)|n.existe (?:pas|plus)"
    r"|p[aá]gina no (?:encontrada|existe)|no se (?:ha )?(?:encontrado|encuentra)|p[aá]gina não (?:encontrada|existe)"
    r"|pagina non trovata|pagina niet gevonden|sidan (?:kunde inte )?hitta|strona nie (?:została znaleziona|istnieje)"
    r"|stránka (?:nebyla )?nenalezena|страница не найдена|sayfa bulunamad"
    r"|ページが見つかりません|お探しのページ|页面不存在|找不到(?:该)?页面|頁面不存在|找不到頁面"
    r"|페이지를 찾을 수 없습니다",
    re.IGNORECASE,
)
_FAILED = {
    401: "requires a login",
    403: "is forbidden",
    404: "does not exist",
    407: "requires a login",
    410: "is gone",
    429: "is rate limited",
    451: "is blocked for legal reasons",
    500: "failed on its server",
    502: "failed on its server",
    503: "is not available now",
    504: "took its server too long",
}


def judge(seen: Signals) -> Judged:
    """The kind of a response: the first match of captcha, login, error, soft 404, empty and page."""
    return _captcha(seen) or _login(seen) or _error(seen) or _soft_404(seen) or _empty(seen) or Judged(PageKind.PAGE)


def _captcha(seen: Signals) -> Judged | None:
    if seen.headers.get("cf-mitigated", "").lower() == "challenge" or "x-amzn-waf-action" in seen.headers:
        return Judged(PageKind.CAPTCHA, "the server requires a captcha")
    is_short = seen.words < _FEW_WORDS
    failed = seen.status >= 400
    speaks = _CAPTCHA_WORDS.search(f"{seen.title}\n{seen.heading}\n{seen.text[:2000]}")
    if _CHALLENGES.search(seen.markers) and (failed or (is_short and speaks)):
        return Judged(PageKind.CAPTCHA, "a captcha precedes the page")
    if speaks and (failed or is_short) and (_CAPTCHAS.search(seen.markers) or _CAPTCHA_WORDS.search(seen.title)):
        return Judged(PageKind.CAPTCHA, f"it says {speaks[0].strip()!r}")
    return None


def _login(seen: Signals) -> Judged | None:
    if seen.status in (401, 407):
        return Judged(PageKind.LOGIN, f"status {seen.status}: the page {_FAILED[seen.status]}")
    if seen.words >= _FEW_WORDS or seen.status in (404, 410, 429) or seen.status >= 500:
        return None
    says = _LOGIN_WORDS.search(f"{seen.title}\n{seen.heading}")
    place = urlsplit(seen.url)
    is_there = bool(_LOGIN_PATH.search(place.path) or _LOGIN_HOST.search(place.hostname or ""))
    if seen.has_password and (says or is_there):
        return Judged(PageKind.LOGIN, "it has little more than a password field")
    if says and is_there:
        return Judged(PageKind.LOGIN, f"its title and URL ask to sign in: {says[0].strip()!r}")
    return None


def _error(seen: Signals) -> Judged | None:
    if seen.status < 400:
        return None
    return Judged(PageKind.ERROR, f"status {seen.status}: the page {_FAILED.get(seen.status, 'is not available')}")


def _soft_404(seen: Signals) -> Judged | None:
    if seen.words >= _FEW_WORDS:
        return None
    found = _GONE.search(seen.title) or _GONE.search(seen.heading)
    return Judged(PageKind.SOFT_404, f"status {seen.status}, but it says {found[0].strip()!r}") if found else None


def _empty(seen: Signals) -> Judged | None:
    if seen.words > _NOTHING or seen.has_media:
        return None
    return Judged(PageKind.EMPTY, "the page is rendered by its scripts" if seen.has_scripts else "the page is empty")
