package templates

// Scan is scan, for the fuzz target.
var Scan = scan
