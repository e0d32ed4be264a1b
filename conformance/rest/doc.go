// Package rest holds what Mailhelm promises as a public API, tested from outside
// over HTTP against the whole product. Every answer that any test here gets is
// held against the OpenAPI document that the product itself serves: its status,
// its headers and the schema of its body. It owns no code of the product.
package rest
