package intake_test

import (
	"os"
	"testing"

	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

func TestMain(m *testing.M) {
	enginetest.ReduceRandomCases()
	os.Exit(m.Run())
}
