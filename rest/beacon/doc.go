// Package beacon has the HTTP of website identity, at the base URL of the API and without
// credentials: POST /s/visit takes beacons, and GET /s/mailhelm.js and /s/mailhelm.d.ts serve
// the script of customers' websites and its types.
//
// Package core/site reads and stores beacons. The script itself is in the folder script.
package beacon
