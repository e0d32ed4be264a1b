// Package oauth tests Mailhelm's authorization server from outside: over HTTP, on real
// databases, with third-party clients. It tries attacks, and edge cases that the RFCs leave
// to the implementer. It contains no code of the product.
package oauth
