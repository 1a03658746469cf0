//! Realistic work: three repositories and the tasks that people give their sessions in them.

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Repo {
    pub(super) name: &'static str,
    /// Folder beside the main checkout (empty: the checkout itself) and its branch.
    pub(super) worktrees: [(&'static str, &'static str); 3],
    pub(super) commands: &'static [SimCommand],
    /// Commands that a careful person wants to confirm.
    pub(super) asking_commands: &'static [SimCommand],
    pub(super) files: &'static [File],
    pub(super) questions: &'static [SimQuestion],
    pub(super) subagent_tasks: &'static [SubagentTask],
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct SimCommand {
    pub(super) line: &'static str,
    pub(super) what: &'static str,
    pub(super) output: &'static str,
    pub(super) failure: &'static str,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct File {
    pub(super) path: &'static str,
    pub(super) before: &'static str,
    pub(super) after: &'static str,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct SimQuestion {
    pub(super) text: &'static str,
    pub(super) header: &'static str,
    pub(super) options: [(&'static str, &'static str); 2],
}

/// Tasks of a subagent.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SubagentTask {
    pub(super) description: &'static str,
    pub(super) prompt: &'static str,
    pub(super) result: &'static str,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Job {
    pub(super) repo: &'static Repo,
    /// The first prompt, then the next ones.
    pub(super) prompts: &'static [&'static str],
    pub(super) answers: &'static [&'static str],
    pub(super) plan: &'static str,
    /// Subject, and its form while it is in progress.
    pub(super) todos: [(&'static str, &'static str); 2],
}

const fn run(
    line: &'static str,
    what: &'static str,
    output: &'static str,
    failure: &'static str,
) -> SimCommand {
    SimCommand { line, what, output, failure }
}

static API: Repo = Repo {
    name: "api",
    worktrees: [
        ("", "main"),
        ("api-rate-limits", "feature/rate-limits"),
        ("api-idempotency", "fix/duplicate-charges"),
    ],
    commands: &[
        run(
            "cargo test -p payments",
            "Run the payment tests",
            "test result: ok. 84 passed; 0 failed",
            "test charges::retries_once ... FAILED",
        ),
        run(
            "cargo clippy --workspace -- -D warnings",
            "Lint the workspace",
            "Finished `dev` profile in 21.4s",
            "error: unused variable: `cutoff`",
        ),
        run(
            "rg -n \"fn charge\" crates",
            "Find where charges are made",
            "crates/payments/src/charge.rs:41:pub async fn charge(",
            "rg: crates: No such file or directory",
        ),
        run(
            "git diff --stat main",
            "See what changed",
            " 6 files changed, 214 insertions(+), 37 deletions(-)",
            "fatal: ambiguous argument 'main'",
        ),
        run(
            "cargo bench -p ledger -- --quick",
            "Measure the ledger",
            "post_entry  time: [11.9 us 12.1 us 12.4 us]",
            "error: no bench target named `ledger`",
        ),
    ],
    asking_commands: &[
        run(
            "sqlx migrate run",
            "Apply the new migration",
            "Applied 20261114/migrate idempotency keys",
            "error: connection refused",
        ),
        run(
            "git push -u origin feature/rate-limits",
            "Push the branch",
            "branch 'feature/rate-limits' set up to track 'origin'",
            "error: failed to push some refs",
        ),
        run(
            "docker compose up -d postgres",
            "Start the test database",
            "Container api-postgres-1  Started",
            "Cannot connect to the Docker daemon",
        ),
        run(
            "cargo add governor --features dashmap",
            "Add the rate limiter crate",
            "Adding governor v0.10 to dependencies",
            "error: could not reach the registry",
        ),
        run(
            "rm -rf target/criterion",
            "Drop the old benchmark results",
            "",
            "rm: cannot remove: Permission denied",
        ),
    ],
    files: &[
        File {
            path: "crates/payments/src/charge.rs",
            before: "let attempt = 1;",
            after: "let attempt = key.attempt();",
        },
        File {
            path: "crates/gateway/src/limits.rs",
            before: "const BURST: u32 = 20;",
            after: "const BURST: u32 = 60;",
        },
        File {
            path: "migrations/0042_idempotency.sql",
            before: "key text",
            after: "key text not null unique",
        },
        File {
            path: "crates/ledger/src/entry.rs",
            before: "entries.push(entry)",
            after: "entries.push(entry.checked()?)",
        },
    ],
    questions: &[
        SimQuestion {
            text: "Where should the rate limit state live?",
            header: "Storage",
            options: [("In memory", "Fast, forgotten on restart"), ("Redis", "Shared between instances")],
        },
        SimQuestion {
            text: "What should a repeated key with another body get?",
            header: "Conflict",
            options: [
                ("422", "Say that the key was used for something else"),
                ("409", "Treat it as a conflict"),
            ],
        },
    ],
    subagent_tasks: &[
        SubagentTask {
            description: "Find every caller of charge",
            prompt: "List each place that calls charge() and what it does on an error.",
            result: "Seven callers; two swallow the error.",
        },
        SubagentTask {
            description: "Review the migration",
            prompt: "Read migrations/0042 and say whether it can run while the service is up.",
            result: "Safe, if the unique index is built concurrently.",
        },
    ],
};

static WEB: Repo = Repo {
    name: "storefront",
    worktrees: [
        ("", "main"),
        ("storefront-checkout", "feature/one-page-checkout"),
        ("storefront-a11y", "fix/keyboard-traps"),
    ],
    commands: &[
        run(
            "npm test -- --run cart",
            "Run the cart tests",
            "Test Files  9 passed (9)",
            "FAIL  src/cart/total.test.ts > rounds half cents",
        ),
        run("npx tsc --noEmit", "Check the types", "", "src/cart/total.ts(18,9): error TS2322"),
        run(
            "npx playwright test checkout.spec.ts",
            "Try the checkout in a browser",
            "12 passed (38.2s)",
            "1 failed: checkout.spec.ts:44 pays with a saved card",
        ),
        run(
            "git log --oneline -8",
            "Recent commits",
            "a41c9e2 cart: keep the coupon after a reload",
            "fatal: not a git repository",
        ),
        run("npx eslint src --max-warnings 0", "Lint", "", "42:7  error  Missing key in list"),
    ],
    asking_commands: &[
        run(
            "npm install @stripe/stripe-js@latest",
            "Install the payment widget",
            "added 1 package in 3s",
            "npm error code ECONNRESET",
        ),
        run(
            "npm run deploy:preview",
            "Put up a preview",
            "Preview is live",
            "Error: no permission for project",
        ),
        run(
            "git rebase main",
            "Rebase on main",
            "Successfully rebased and updated",
            "CONFLICT (content): Merge conflict in src/cart/total.ts",
        ),
        run(
            "npx prisma db seed",
            "Fill the shop with test goods",
            "The seed command has been executed.",
            "Error: P1001: cannot reach database",
        ),
    ],
    files: &[
        File { path: "src/cart/total.ts", before: "Math.round(sum)", after: "roundHalfEven(sum)" },
        File {
            path: "src/checkout/Form.tsx",
            before: "<div onClick={next}>",
            after: "<button type=\"button\" onClick={next}>",
        },
        File {
            path: "src/styles/focus.css",
            before: "outline: none;",
            after: "outline: 2px solid var(--focus);",
        },
    ],
    questions: &[
        SimQuestion {
            text: "Should guests be able to check out without an account?",
            header: "Guests",
            options: [("Yes", "Ask for an email only"), ("No", "Keep the sign-up step")],
        },
        SimQuestion {
            text: "Which browsers do we still support?",
            header: "Browsers",
            options: [
                ("Last two versions", "Smaller bundles"),
                ("Everything since 2022", "Keep the polyfills"),
            ],
        },
    ],
    subagent_tasks: &[
        SubagentTask {
            description: "Audit the checkout for screen readers",
            prompt: "Walk through src/checkout and list what a screen reader cannot reach.",
            result: "Three controls without a name; the coupon field traps focus.",
        },
        SubagentTask {
            description: "Measure the bundle",
            prompt: "Which imports make the checkout bundle large?",
            result: "The date library is 61 % of it.",
        },
    ],
};

static DATA: Repo = Repo {
    name: "pipeline",
    worktrees: [
        ("", "main"),
        ("pipeline-backfill", "job/backfill-2025"),
        ("pipeline-schema", "feature/schema-checks"),
    ],
    commands: &[
        run(
            "pytest tests/ingest -q",
            "Run the ingest tests",
            "131 passed in 24.10s",
            "1 failed, 130 passed: test_late_rows",
        ),
        run(
            "ruff check src",
            "Lint",
            "All checks passed!",
            "src/ingest/rows.py:77:5: F841 local variable unused",
        ),
        run(
            "python -m pipeline.plan --dry-run",
            "What would the backfill do?",
            "412 partitions, 1.8 TB, about 3 h",
            "KeyError: 'partition_date'",
        ),
        run(
            "wc -l data/samples/*.csv",
            "Size of the samples",
            "  48210 total",
            "wc: data/samples: No such file or directory",
        ),
        run(
            "mypy src/pipeline",
            "Check the types",
            "Success: no issues found in 88 source files",
            "src/pipeline/plan.py:31: error: Incompatible types",
        ),
    ],
    asking_commands: &[
        run(
            "python -m pipeline.backfill --from 2025-01-01 --workers 8",
            "Start the backfill",
            "queued 412 partitions",
            "quota exceeded",
        ),
        run(
            "gsutil rm gs://staging-events/tmp/**",
            "Empty the staging folder",
            "Removing 318 objects",
            "AccessDeniedException: 403",
        ),
        run(
            "pip install -U pyarrow",
            "Upgrade pyarrow",
            "Successfully installed pyarrow-22.0.0",
            "ERROR: no matching distribution",
        ),
        run(
            "git push --force-with-lease",
            "Push the rewritten branch",
            "forced update",
            "rejected: stale info",
        ),
    ],
    files: &[
        File { path: "src/ingest/rows.py", before: "rows.append(row)", after: "rows.append(validate(row))" },
        File { path: "src/pipeline/plan.py", before: "batch = 50", after: "batch = min(50, limit)" },
        File { path: "schemas/orders.yaml", before: "nullable: true", after: "nullable: false" },
    ],
    questions: &[
        SimQuestion {
            text: "What should happen to rows that fail the schema check?",
            header: "Bad rows",
            options: [
                ("Quarantine", "Keep them in a side table"),
                ("Fail the batch", "Nothing is loaded until fixed"),
            ],
        },
        SimQuestion {
            text: "May the backfill run during business hours?",
            header: "Timing",
            options: [("Nights only", "Slower, goes unnoticed"), ("Any time", "Done by tomorrow")],
        },
    ],
    subagent_tasks: &[
        SubagentTask {
            description: "Find the slow partitions",
            prompt: "Look through the last run's log for partitions that took over ten minutes.",
            result: "Nine partitions, all from the March migration.",
        },
        SubagentTask {
            description: "Compare the schemas",
            prompt: "Compare schemas/orders.yaml with what the rows really hold.",
            result: "`discount` is missing in 0.4 % of rows.",
        },
    ],
};

pub(super) static REPOS: [&Repo; 3] = [&API, &WEB, &DATA];

pub(super) static JOBS: [&[Job]; 3] = [
    &[
        Job {
            repo: &API,
            prompts: &[
                "Charges are sometimes made twice when the gateway times out. Find out why and fix it.",
                "Add a test that shows the old behaviour",
                "Also cover refunds",
            ],
            answers: &[
                "The retry reused the request without its idempotency key. It is now carried through, with a test that fails on the old code.",
                "Done: refunds take the same path, 3 new tests.",
                "All green. Shall I open a pull request?",
            ],
            plan: "# Plan\n\n1. Reproduce the double charge with a test\n2. Carry the idempotency key through the retry\n3. Make the key unique in the database\n",
            todos: [
                ("Reproduce the double charge", "Reproducing the double charge"),
                ("Carry the key through the retry", "Carrying the key through"),
            ],
        },
        Job {
            repo: &API,
            prompts: &[
                "Add per-customer rate limits to the gateway",
                "Make the burst configurable",
                "Write the docs page for it",
            ],
            answers: &[
                "Limits are in, 60 requests a minute by default, 429 with Retry-After.",
                "The burst is read from `limits.toml` now.",
                "Which customers should be exempt?",
            ],
            plan: "# Plan\n\n1. A token bucket per customer\n2. 429 with Retry-After\n3. Metrics for refused requests\n",
            todos: [
                ("Token bucket per customer", "Writing the token bucket"),
                ("Metrics for refusals", "Adding metrics"),
            ],
        },
        Job {
            repo: &API,
            prompts: &[
                "The ledger benchmark got 30 % slower since last week, bisect it",
                "Can we get it back without reverting?",
            ],
            answers: &[
                "Commit 9c1d2aa clones every entry. Borrowing instead gives 12.1 us again.",
                "Yes: the clone was only needed for the audit log.",
            ],
            plan: "# Plan\n\n1. Bisect with the quick benchmark\n2. Read the first bad commit\n3. Fix it and measure again\n",
            todos: [("Bisect the slowdown", "Bisecting"), ("Measure the fix", "Measuring")],
        },
    ],
    &[
        Job {
            repo: &WEB,
            prompts: &[
                "Turn the three checkout steps into one page",
                "The coupon field should stay visible",
                "Check it on a phone-sized screen",
            ],
            answers: &[
                "The checkout is one page; the old routes redirect. 12 browser tests pass.",
                "The coupon field is above the total now.",
                "Do you want the summary to stick while scrolling?",
            ],
            plan: "# Plan\n\n1. One form with three sections\n2. Keep the old routes as redirects\n3. Browser tests for both\n",
            todos: [
                ("Merge the three forms", "Merging the forms"),
                ("Redirect the old routes", "Adding redirects"),
            ],
        },
        Job {
            repo: &WEB,
            prompts: &[
                "People cannot leave the coupon dialog with the keyboard, fix all such traps",
                "Show me a focus outline everywhere",
            ],
            answers: &[
                "Four traps fixed; Esc closes every dialog and focus goes back to its button.",
                "Every control has a visible outline now.",
            ],
            plan: "# Plan\n\n1. List the dialogs\n2. One focus-trap helper\n3. A test per dialog\n",
            todos: [("List the dialogs", "Listing dialogs"), ("One helper for focus", "Writing the helper")],
        },
        Job {
            repo: &WEB,
            prompts: &[
                "The total is off by a cent for some baskets, see issue 812",
                "Explain the rounding in a comment",
            ],
            answers: &[
                "Half cents were rounded up twice. Totals now match the invoice service for all 48,210 samples.",
                "Added, with a link to the tax rule.",
            ],
            plan: "# Plan\n\n1. A failing test from issue 812\n2. Round once, at the end\n3. Compare with the invoices\n",
            todos: [
                ("Failing test from issue 812", "Writing the test"),
                ("Round once", "Fixing the rounding"),
            ],
        },
    ],
    &[
        Job {
            repo: &DATA,
            prompts: &[
                "Prepare the 2025 backfill and tell me what it will cost",
                "Split it so that it can be resumed",
                "Start with January",
            ],
            answers: &[
                "412 partitions, about 3 hours and 41 dollars. Nothing has been started.",
                "Each month is its own step with a marker file.",
                "January is queued. Shall I go on with February when it is through?",
            ],
            plan: "# Plan\n\n1. Dry run and cost\n2. One resumable step a month\n3. Compare counts after each\n",
            todos: [("Dry run", "Doing the dry run"), ("Resumable steps", "Splitting into steps")],
        },
        Job {
            repo: &DATA,
            prompts: &["Check every row against its schema before loading", "Write a report of what fails"],
            answers: &[
                "Rows are checked; 0.4 % of orders lack `discount`.",
                "The report is in reports/schema.md, worst columns first.",
            ],
            plan: "# Plan\n\n1. Load the schemas once\n2. Check row by row, collect failures\n3. A report by column\n",
            todos: [("Check rows", "Writing the check"), ("Report by column", "Writing the report")],
        },
        Job {
            repo: &DATA,
            prompts: &[
                "The nightly run fails every few days with a late-rows error, find the pattern",
                "Make it wait instead of failing",
            ],
            answers: &[
                "It fails when the upstream export ends after 02:10. Eleven of eleven cases.",
                "It waits up to an hour now and says so in the log.",
            ],
            plan: "# Plan\n\n1. Collect the failed runs\n2. Line them up with the export times\n3. Wait with a limit\n",
            todos: [("Collect failed runs", "Collecting runs"), ("Wait with a limit", "Adding the wait")],
        },
    ],
];
