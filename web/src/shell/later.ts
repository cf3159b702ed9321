/** The parts of the frame that are not needed for the first picture. */
import "./press";

export { AllPages } from "./all-pages";
export { Answers } from "./answers";
export { DropAnywhere } from "./drop";
export { Help } from "./help";
export { Palette } from "./palette";
export { SignInDialog } from "./sign-in-dialog";
export { Tray } from "./tray-view";
