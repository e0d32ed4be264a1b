// Package discovery finds the authorization server of a protected resource from the
// resource's address alone, by the metadata of RFC 9728 and RFC 8414. The metadata come from
// a server that may be hostile, so the package refuses metadata that would lead tokens,
// requests or the browser to an unsafe address.
package discovery
