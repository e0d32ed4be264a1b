// Package assets holds what is promised about images that mail shows: their records, their public
// addresses, and that deployed templates have these addresses.
package assets
