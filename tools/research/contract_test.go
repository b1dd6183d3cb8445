package research_test

import (
	"testing"

	"toolgym/internal/envtest"
	"toolgym/tools/research"
)

func TestContract(t *testing.T) { envtest.Run(t, research.Spec()) }
