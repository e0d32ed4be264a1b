// Package domainauth stores DMARC reports and what is known from them: domains, sources, daily
// figures, events, and files that arrive.
package domainauth
