// Package rest tests the public REST API over HTTP, against the whole product. Every
// response in every test is checked against the OpenAPI document that the product serves:
// its status, its headers and the schema of its body. The package contains no code of the
// product.
package rest
