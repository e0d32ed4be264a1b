// Package bundles holds what is promised about bundles: what an export contains for whom, and that
// equal definitions give equal bytes.
package bundles
