"use strict";
// A service worker answers a browser for all pages below its scope, until it is removed. By this
// header a server widens the scope of its own. A student's could then be that of the whole hub, with
// its login form and other students' pages; without it, the student's own pages are all.
const { ServerResponse } = require("node:http");
const setHeader = ServerResponse.prototype.setHeader;
ServerResponse.prototype.setHeader = function (name, value) {
  return name.toLowerCase() === "service-worker-allowed" ? this : setHeader.call(this, name, value);
};
