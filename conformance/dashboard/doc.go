// Package dashboard tests the pages for people who manage their organization in a
// browser, from outside: over HTTP, with the whole product, form by form. It owns no
// code of the product.
package dashboard
