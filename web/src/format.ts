const FULL = new Intl.NumberFormat("en");
const SHORT = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });

/** 12,345 */
export function exact(value: number): string {
  return FULL.format(value);
}

/** 9,999 in full, above that 12.3 K or 1.2 M. */
export function short(value: number): string {
  return Math.abs(value) <= 9999 ? FULL.format(value) : SHORT.format(value).replace(/([KMBT])$/, " $1");
}

/** 12.3 MB, in powers of 1000. */
export function bytes(value: number): string {
  const units = ["bytes", "kB", "MB", "GB", "TB", "PB"];
  let size = value;
  let unit = 0;
  while (size >= 999.5 && unit < units.length - 1) {
    size /= 1000;
    unit += 1;
  }
  return `${unit === 0 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${units[unit]}`;
}

/** 62/s, 3.1/min: the unit that makes a readable number. */
export function rate(perSecond: number): string {
  if (perSecond === 0) return "0/s";
  if (perSecond >= 10) return `${short(Math.round(perSecond))}/s`;
  if (perSecond >= 1) return `${perSecond.toFixed(1)}/s`;
  const perMinute = perSecond * 60;
  return perMinute >= 1 ? `${perMinute.toFixed(1)}/min` : `${(perMinute * 60).toFixed(1)}/h`;
}

const UNITS: [number, string][] = [
  [86400, "d"],
  [3600, "h"],
  [60, "min"],
  [1, "s"],
];

/** 1 h 12 min, 8 s, 340 ms: at most two units. */
export function duration(seconds: number): string {
  const left = Math.abs(seconds);
  if (left > 0 && left < 0.9995) return `${Math.max(1, Math.round(left * 1000))} ms`;
  if (left < 10) return `${Number(left.toFixed(1))} s`;
  let rest = Math.round(left);
  const parts: string[] = [];
  for (const [size, name] of UNITS) {
    const count = Math.floor(rest / size);
    if (count > 0 || (size === 1 && parts.length === 0)) parts.push(`${count} ${name}`);
    else if (parts.length > 0) break;
    rest -= count * size;
    if (parts.length === 2) break;
  }
  return parts.join(" ");
}

/** How long something took that began and ended at these times. */
export function took(from: string, to: string): string {
  const milliseconds = Date.parse(to) - Date.parse(from);
  return milliseconds < 1 ? "< 1 ms" : duration(milliseconds / 1000);
}

/** "now", "8 s ago", "in 2 min", "3 d ago"; after a week the date. */
export function relative(time: Date, now: Date): string {
  const seconds = (now.getTime() - time.getTime()) / 1000;
  const away = Math.abs(seconds);
  if (away < 1.5) return "now";
  if (away > 7 * 86400)
    return time.toLocaleDateString("en", { day: "numeric", month: "short", year: "numeric", timeZone });
  const [size, name] = UNITS.find(([least]) => away >= least)!;
  const said = `${Math.floor(away / size)} ${name}`;
  return seconds < 0 ? `in ${said}` : `${said} ago`;
}

let timeZone: string | undefined;

/** Show clocks and dates in this time zone; undefined, or one that the browser does not know: that of the device. */
export function setZone(zone: string | undefined): void {
  try {
    if (zone) new Intl.DateTimeFormat("en", { timeZone: zone });
    timeZone = zone;
  } catch {
    timeZone = undefined;
  }
}

/** Local and UTC, for tooltips. */
export function exactTime(time: Date): string {
  const local = time.toLocaleString("en", { dateStyle: "medium", timeStyle: "medium", timeZone });
  return `${local} (${time.toISOString().replace("T", " ").slice(0, 19)} UTC)`;
}

/** 14:02, in local time. */
export function clock(time: Date): string {
  return time.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit", timeZone });
}

/** The begin of a day (as `2026-05-17`) where clocks are shown, or of a later one. */
export function startOfDay(day: string, later = 0): Date {
  const asUtc = Date.parse(day) + later * 86_400_000; // a day without a time is one of UTC
  return new Date(asUtc - zoneOffset(asUtc - zoneOffset(asUtc))); // twice: the clock may change near midnight
}

/** The day of a time, as `2026-05-17`, where clocks are shown. */
export function dayOf(time: Date): string {
  return time.toLocaleDateString("sv", { timeZone });
}

/** Thursday, November 12. */
export function weekday(time: Date): string {
  return time.toLocaleDateString("en", { weekday: "long", day: "numeric", month: "long", timeZone });
}

/** How many milliseconds clocks are ahead of UTC at a time. */
function zoneOffset(time: number): number {
  const said = new Date(time).toLocaleString("sv", { timeZone }); // as 2026-05-17 14:02:00
  return Date.parse(`${said.replace(" ", "T")}Z`) - Math.floor(time / 1000) * 1000;
}

/** The host of a URL without www, or the text itself. */
export function host(url: string): string {
  try {
    return new URL(url).hostname.replace(/^www\./, "");
  } catch {
    return url;
  }
}
