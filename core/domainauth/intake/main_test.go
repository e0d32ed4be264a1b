package intake_test

import (
	"os"
	"testing"

	"github.com/mailhelm/mailhelm/storage/storagetest"
)

func TestMain(m *testing.M) {
	storagetest.ReduceRandomCases()
	os.Exit(m.Run())
}
