// Package dashboard holds what Mailhelm promises to people who run their
// organization with a browser, tested from outside: over HTTP, with the whole
// product behind it, form by form. It owns no code of the product.
package dashboard
