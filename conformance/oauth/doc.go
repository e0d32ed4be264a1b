// Package oauth tests Mailhelm as an authorization server from outside: over HTTP, on
// real databases, with clients of other projects. Each row of a table is an attack or an
// edge case that the RFCs leave to the implementer. It contains no code of the product.
package oauth
