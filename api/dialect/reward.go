package dialect

// A RewardQuery is the body of POST /get_reward, OpenRLHF's remote reward. The
// lists are parallel.
type RewardQuery struct {
	Query   []string `json:"query" doc:"Each prompt, with the response behind it."`
	Prompts []string `json:"prompts" doc:"The prompts; completions of equal ones are a group."`
	Labels  []string `json:"labels" doc:"Each a task's id, or a task as JSON text: task_id, or tools and expected; and family, where it is known."`
}

// Rewards is the answer of POST /get_reward; every number is finite.
type Rewards struct {
	Rewards   []float64            `json:"rewards"`
	Scores    []float64            `json:"scores" doc:"The criterion completion, between 0 and 1."`
	ExtraLogs map[string][]float64 `json:"extra_logs" doc:"The values of the criteria by name."`
}
