// Types of mailhelm.js. Put this file into your project; it declares the global variable.

/** Options of {@link Mailhelm.init}. */
interface MailhelmOptions {
  /** The site key of your organization: `pk_live_` and 32 letters and digits. It is public. */
  siteKey: string;
  /** Name of the cookie with the visitor id. Default: `so_vid`. */
  cookieName?: string;
  /** The visitor id, for pages that get it from your server otherwise than by the cookie. */
  visitorId?: string;
  /** If true, nothing is read, stored or sent before `consent(true)`. Default: false. */
  requireConsent?: boolean;
  /** Address to which events are sent. Default: `visit` beside the address of the script. */
  endpoint?: string;
}

/**
 * Values of an event. Names match `^[a-z][a-z0-9_]{0,31}$`. The first ten values are kept.
 * `undefined`, `null`, and numbers that are not finite are left out.
 */
interface MailhelmProperties {
  [name: string]: string | number | boolean | null | undefined;
}

/** The global variable `mailhelm`. No method throws. */
interface Mailhelm {
  /**
   * Starts, and sends one `site_visit` for each session of the browser. Call it again after
   * a sign-in without a new page.
   */
  init(options: MailhelmOptions): void;
  /** Sends an event. The name matches `^site_[a-z0-9_]{1,60}$`. */
  track(name: `site_${string}`, properties?: MailhelmProperties): void;
  /** Says whether the visitor consents. The script does not remember it for the next page. */
  consent(given: boolean): void;
}

interface Window {
  mailhelm: Mailhelm;
}

declare const mailhelm: Mailhelm;
