package sources

import "github.com/mailhelm/mailhelm/core/domainauth/figures"

// Classification is what a source is to the domain; see [figures.Classification].
type Classification = figures.Classification

// The classifications of sources.
const (
	Own        = figures.Own
	Authorised = figures.Authorised
	Forwarder  = figures.Forwarder
	Unknown    = figures.Unknown
	Spoofing   = figures.Spoofing
)
