// Package attacks holds what an attacker tries against the whole product, and
// that it does not work: hostile JSON, hostile HTTP, credentials used where they
// do not belong, pages in a browser, races for one key, clients that hang up.
// Each file is one theme. It owns no code of the product.
package attacks
