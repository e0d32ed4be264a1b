// Package script has what customers put on their websites so that visits are linked to
// contacts: the script mailhelm.js, its TypeScript types, the tag that loads it, and examples
// for servers that set the cookie with the visitor id.
//
// The script is served as it is in mailhelm.js; no build step changes it. It must stay below
// 4 KB compressed, throw nothing into the page, write nothing but the session marker, and run
// as a classic script and as a module. The examples are programs in the folder examples.
//
// The package serves nothing and reads no beacons. The package beacon does.
package script
