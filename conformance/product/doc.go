// Package product starts the whole product inside a test: every listener on a
// free port of the loopback, the demo data, a second organization to try to
// reach from the first, a sending account that can be made to fail and a clock
// that can be moved. [Start] is one product, [Each] one on each database.
//
// It owns no test of the product itself. What it starts is what `mailhelm serve`
// starts, through package host, so that nothing tested here is put together
// otherwise than what is run.
package product
