package policy

// Batch is what one update learns from. A learner makes it once and uses it
// again: fill in Prompts, let [Learner.Sample] write Plans, play these, and fill
// in the rest. All slices have a row for each episode, and rows of Steps
// entries, whatever the length of the episode.
type Batch struct {
	Prompts []Prompt
	// Plans are the tokens that were sampled, or that are forced.
	Plans [][]int
	// Lengths is how many tokens of each plan were played, the one that ended
	// the episode included. The documented update does not read it.
	Lengths []int
	// Rewards is what each token was paid, for the actor-critic updates. What
	// stands behind an episode's end must be 0.
	Rewards [][]float64
	// Advantages is one number for each episode, for the update grpo.
	Advantages []float64

	logProbs []float64 // steps·batch, of the policy that ratios are to
	sampled  bool      // logProbs holds those of the prompts and plans in of
	of       []int
}

// content is what log-probabilities depend on: each episode's prompt and plan.
func (b *Batch) content() []int {
	list := make([]int, 0, len(b.of))
	for i, p := range b.Prompts {
		list = append(append(list, p.Stage, len(p.Context)), p.Context...)
		list = append(list, b.Plans[i]...)
	}
	return list
}

// NewBatch returns an empty batch of the learner's size.
func (l *Learner) NewBatch() *Batch {
	c := l.net.config
	b := &Batch{
		Prompts: make([]Prompt, c.Batch), Plans: make([][]int, c.Batch), Lengths: make([]int, c.Batch),
		Rewards: make([][]float64, c.Batch), Advantages: make([]float64, c.Batch),
		logProbs: make([]float64, c.Batch*c.Steps),
	}
	for i := range b.Plans {
		b.Plans[i], b.Rewards[i], b.Lengths[i] = make([]int, c.Steps), make([]float64, c.Steps), c.Steps
	}
	return b
}

// Play plays every plan on an environment: begin starts the task of episode i,
// act plays one token and tells the reward and whether the episode is over. It
// fills in Lengths and Rewards.
func (b *Batch) Play(begin func(i int), act func(token int) (reward float64, done bool)) {
	for i, plan := range b.Plans {
		begin(i)
		clear(b.Rewards[i])
		b.Lengths[i] = len(plan)
		for t, token := range plan {
			reward, done := act(token)
			b.Rewards[i][t] = reward
			if done {
				b.Lengths[i] = t + 1
				break
			}
		}
	}
}
