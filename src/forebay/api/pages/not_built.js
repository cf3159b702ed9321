// The link of `forebay up` opens the web app and signs in: without the app, the sign-in page does it.
if (location.hash.startsWith("#fbl_")) location.replace(`/sign-in${location.hash}`);
greet();
