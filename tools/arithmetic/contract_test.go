package arithmetic_test

import (
	"testing"

	"toolgym/internal/envtest"
	"toolgym/tools/arithmetic"
)

func TestContract(t *testing.T) { envtest.Run(t, arithmetic.Spec()) }
