"use strict";
document.body.dataset.ready = "1";
