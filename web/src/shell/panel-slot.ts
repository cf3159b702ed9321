/** Where the panel of a page is shown: the frame has the place from the start. */
export const PANEL_SLOT = "panel-slot";
