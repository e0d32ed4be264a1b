// Package dashboard tests the pages with which people manage their organization: over HTTP,
// form by form, against the whole running product. It has no code of the product.
package dashboard
