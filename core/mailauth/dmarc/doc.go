// Package dmarc implements DMARC as RFC 9989 defines it: it reads policy records, finds the
// record and the organizational domain of a domain with the DNS tree walk, and decides
// whether an authenticated domain is aligned with the author domain. Section numbers in this
// package are those of RFC 9989.
//
// The package needs only the From domain and the results of SPF and DKIM. It reads no
// messages, verifies no signatures and sends no reports. It asks DNS through a Resolver,
// with at most eight queries for each domain.
package dmarc
