// Removes cookie banners without answering them, and restores scrolling.
(() => {
  const known = [
    '#onetrust-consent-sdk', '#onetrust-banner-sdk', '.onetrust-pc-dark-filter', '#CybotCookiebotDialog', '#CybotCookiebotDialogBodyUnderlay',
    '#usercentrics-root', '#usercentrics-cmp-ui', '#didomi-host', '.didomi-popup-container', '.qc-cmp2-container', '#qc-cmp2-container',
    '[id^="sp_message_container"]', '.truste_overlay', '.truste_box_overlay', '#truste-consent-track', '.fc-consent-root', '#cmpbox', '#cmpbox2',
    '#cmpwrapper', '.cmpwrapper', '#cookie-law-info-bar', '.cli-modal-backdrop', '.cky-consent-container', '.cky-overlay', '#cookiescript_injected',
    '#cookiescript_injected_wrapper', '.cc-window', '.cc-banner', '#cookieConsent', '#cookie-consent', '#cookie-banner', '.cookie-banner',
    '#cookie-notice', '.cookie-notice', '#cookiebanner', '.cookie-consent', '#gdpr-cookie-message', '.osano-cm-window', '#iubenda-cs-banner',
    '.iubenda-cs-container', '#klaro', '.klaro', '#tarteaucitronRoot', '#axeptio_overlay', '#axeptio_main_button', '.ch2-container', '.termly-consent-banner',
    '#termly-code-snippet-support', '#BorlabsCookieBox', '.cmplz-cookiebanner', '#cmplz-cookiebanner-container', '#moove_gdpr_cookie_info_bar',
    '#consent_blackbar', '#ketch-consent-banner', '#transcend-consent-manager', '#shopify-pc__banner', '#sliding-popup', '.eu-cookie-compliance-banner',
    '#ppms_cm_popup_overlay', '#hs-eu-cookie-confirmation', '#ccc-overlay', '#ccc', '.evidon-banner', '#_evidon_banner', '.evidon-consent-button',
    'div[class^="sp_veil"]', '#coiOverlay', '#cookie-information-template-wrapper', '.cookiefirst-root', 'cookie-consent', 'cookie-banner',
  ];
  const about = new RegExp([
    'cookie', 'consent', 'gdpr', 'ccpa', 'privacy (?:choices|settings|preferences)', 'we value your privacy', 'einwilligung', 'datenschutz',
    'privatsphäre', 'consentement', 'vie privée', 'traceurs', 'consentimiento', 'privacidad', 'privacidade', 'consentimento', 'consenso',
    'informativa', 'toestemming', 'samtycke', 'samtykke', 'evästee', 'zgod[aęy]', 'ciastecz', 'souhlas', 'soubor[yů] cookie', 'hozzájárul', 'süti',
    'куки', 'файлы cookie', 'согласи', 'çerez', 'クッキー', '同意', '隐私', '隱私', '쿠키', 'คุกกี้', 'ملفات تعريف',
  ].join('|'), 'i');
  const asks = /accept|agree|allow|reject|decline|manage|got it|\bok\b|akzept|zustimm|ablehn|einverstanden|accepter|refuser|aceptar|rechazar|acepto|aceitar|recusar|accetta|rifiuta|accepteer|weiger|godkänn|accepter|hyväksy|akceptuj|odrzuć|přijmout|odmítnout|elfogad|принять|согласен|kabul|同意|許可|接受|拒绝|동의|ยอมรับ|موافق/i;
  const most = 40;
  let removed = 0;
  const remove = element => { if (removed < most && element !== document.body && element !== document.documentElement) { element.remove(); removed++; } };
  for (const selector of known) for (const element of document.querySelectorAll(selector)) remove(element);

  // Other overlays that mention cookies: fixed or sticky, with little text and a button.
  const over = element => ['fixed', 'sticky'].includes(getComputedStyle(element).position);
  const candidates = [...document.querySelectorAll('body *')].slice(0, 20000).filter(over);
  const speaks = element => {
    const text = (element.innerText || '').trim() || (element.shadowRoot ? element.shadowRoot.textContent : '');
    return text.length > 0 && text.length < 4000 && about.test(text);
  };
  const pressable = element => [...element.querySelectorAll('button, a, input[type=button], input[type=submit], [role=button]')]
    .concat(element.shadowRoot ? [...element.shadowRoot.querySelectorAll('button, a')] : [])
    .some(each => asks.test(each.innerText || each.value || each.getAttribute('aria-label') || ''));
  for (const element of candidates) {
    if (!element.isConnected || element.matches('header, nav, main, article') || element.querySelector('main, article')) continue;
    if (speaks(element) && pressable(element)) remove(element);
  }
  for (const dialog of document.querySelectorAll('dialog[open], [role=dialog], [role=alertdialog], [aria-modal=true]'))
    if (speaks(dialog) && pressable(dialog) && !dialog.querySelector('main, article')) remove(dialog);

  if (removed) {
    // The backdrop of the banner, and styles that prevent scrolling.
    const whole = innerWidth * innerHeight;
    for (const element of candidates) {
      if (!element.isConnected) continue;
      const box = element.getBoundingClientRect();
      if (box.width * box.height > 0.8 * whole && !(element.innerText || '').trim() && !element.querySelector('img, video, canvas')) remove(element);
    }
    for (const element of [document.documentElement, document.body].filter(Boolean)) {
      const style = getComputedStyle(element);
      if (style.overflowY === 'hidden' || style.overflow === 'hidden') element.style.setProperty('overflow', 'visible', 'important');
      if (style.position === 'fixed') element.style.setProperty('position', 'static', 'important');
      if (style.filter.includes('blur')) element.style.setProperty('filter', 'none', 'important');
      if (style.height === `${innerHeight}px`) element.style.setProperty('height', 'auto', 'important');
    }
  }
  return removed;
})
