"""Links to media: which may be submitted, and of which site they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.pipelines.media.settings import MediaSettings
from forebay.services.egress import InvalidUrl, Policy, allowed_url
from forebay.services.egress.ssrf_policy import Hosts

if TYPE_CHECKING:
    from forebay.services.egress import Url
    from forebay.settings import Settings


def shared_url(text: str, settings: Settings, field: str = "url") -> Url:
    """Check and normalize a link, as far as that is possible without DNS.

    Raises: InvalidUrl, which names the field, the reason and the setting.
    """
    url = allowed_url(text, Policy.of(settings), field)
    check_allowed(url, settings.of(MediaSettings), field)
    return url


def check_allowed(url: Url, own: MediaSettings, field: str = "url") -> None:
    """Raises: InvalidUrl for a host that is not in the list of allowed hosts."""
    if own.allow_hosts and url.host not in Hosts(own.allow_hosts):
        raise InvalidUrl(field, f"{url.host} is not in FOREBAY_MEDIA_ALLOW_HOSTS")
