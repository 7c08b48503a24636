document.getElementById('page').textContent = 'The page is not built yet.';
