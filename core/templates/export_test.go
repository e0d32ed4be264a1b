package templates

// Scan exports scan to the fuzz test.
var Scan = scan
