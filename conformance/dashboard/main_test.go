package dashboard_test

import (
	"os"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
)

// testsAtOnce is the number of tests that run at the same time. Each waits for jobs of its
// product most of the time.
const testsAtOnce = 6

func TestMain(m *testing.M) {
	product.RunAtOnce(testsAtOnce)
	os.Exit(m.Run())
}
