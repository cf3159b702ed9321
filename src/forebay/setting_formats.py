"""The formats of settings that are lists in one text."""

from __future__ import annotations

from ipaddress import IPv4Network, IPv6Network, ip_network


def port_ranges(text: str) -> tuple[range, ...]:
    """Ports and port ranges, separated by commas, as in 80,443,8000-8999.

    Raises: ValueError.
    """
    ranges: list[range] = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        first, _, last = part.partition("-")
        if not (first.isdecimal() and (last or first).isdecimal() and 0 < int(first) <= int(last or first) < 65536):
            raise ValueError(f"{part!r} is neither a port nor a range such as 8000-8999")
        ranges.append(range(int(first), int(last or first) + 1))
    return tuple(ranges)


def days_by_name(text: str) -> dict[str, int]:
    """Days by pipeline name, as in texts=1,notes=90.

    Raises: ValueError.
    """
    days: dict[str, int] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, number = (piece.strip() for piece in part.partition("="))
        if not name or not number.isdecimal() or int(number) < 1:
            raise ValueError(f"{part!r} is not the name of a pipeline and a number of days, as texts=1")
        days[name] = int(number)
    return days


def networks(text: str) -> tuple[IPv4Network | IPv6Network, ...]:
    """Networks, separated by commas, as in 10.0.0.0/8,fd00::/8.

    Raises: ValueError that names the invalid one.
    """
    return tuple(ip_network(part.strip(), strict=False) for part in text.split(",") if part.strip())
