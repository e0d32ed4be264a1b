// Package rest tests the public API from outside, over HTTP, against the whole product.
// Every answer in any test is checked against the OpenAPI document that the product
// serves: its status, its headers and the schema of its body. It contains no code of the
// product.
package rest
