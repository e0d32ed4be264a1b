// Package oauth holds what Mailhelm promises as an authorization server, tested
// from outside: over HTTP, on real databases, with clients that others wrote.
// Each row of a table is an attack or an edge that the RFCs leave to the
// implementer. It owns no code of the product.
package oauth
