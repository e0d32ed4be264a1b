// Package domainauth stores DMARC reports and what is known from them: domains, sources, daily
// figures and events.
package domainauth
