// Package discovery finds the authorization server of a protected resource from the
// resource's address alone, by the metadata of RFC 9728 and RFC 8414.
package discovery
