/** The parts of the frame that are not needed for the first picture. */
import "./press";

export { Help } from "./help";
export { Palette } from "./palette";
export { SignInDialog } from "./sign-in-dialog";
