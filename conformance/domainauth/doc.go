// Package domainauth tests what is known about the authentication of a domain, from outside.
//
// The folder testdata/shapes has DMARC aggregate reports as the large receivers and the common
// programs write them, and beside each what is read of it. Every report was written anew from
// public descriptions, with reserved names and addresses: none is a copy. The table of shapes says
// what is particular about each and where that is described.
package domainauth
