// Package product starts the whole product inside a test. It has every listener on a
// free port of the loopback, the demo data, and a second organization that the first
// must not reach. Its sending account can be made to fail, and its clock can be moved.
// [Start] starts one product, [Each] one on each database.
//
// It owns no test of the product itself. It starts what `mailhelm serve` starts, through
// package host, so that the tested product is wired like the real one.
package product
